export { checker, type JsonChecker, type RefusedSchema } from './checker.js';
