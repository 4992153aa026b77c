export { default as LoginPage } from './login.js';
export * from './shop.js';
