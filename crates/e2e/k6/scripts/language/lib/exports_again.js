export { missing as again, sleep } from 'k6';
