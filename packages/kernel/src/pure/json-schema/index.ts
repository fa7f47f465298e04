export type { JsonProblem } from './check-run.js';
export { type CheckerOptions, checker, type JsonChecker, type JsonVerdict, type RefusedSchema } from './checker.js';
