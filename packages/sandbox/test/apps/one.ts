export { one as app } from './counter.js';
