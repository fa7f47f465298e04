/** The judge: runs an app's recorded code on a model's answer. */
export { JUDGING_MS_MAX } from '../tools/schema/in-time.js';
export { type JsonAnswer, jsonIn } from './json-answer.js';
export type { AskedCall, Judge, JudgeContext } from './port.js';
export { recordedJudge } from './recorded-judge.js';
