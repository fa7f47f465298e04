export { two as app } from './counter.js';
