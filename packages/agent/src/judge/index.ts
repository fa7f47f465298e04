/** The judge: asks the recorded code of an app about what a model answered. */
export { JUDGING_MS_MAX } from './in-time.js';
export type { AskedCall, Judge, JudgeContext } from './port.js';
export { recordedJudge } from './recorded-judge.js';
