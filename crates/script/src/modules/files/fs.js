import { SeekMode, open } from "loadline:files";

export { SeekMode, open };
export default { SeekMode, open };
