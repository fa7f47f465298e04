/** Whether anything in a world ran twice. */
export { type AttemptsOfOptions, attemptsOf } from './attempts.js';
export { type AttemptRow, type AttemptsReport, attemptsReport } from './report.js';
export { attemptWords } from './words.js';
