export const unit = 'm2';
