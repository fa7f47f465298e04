export * from './program.js';
export { programAdapters, programApp } from './program-app.js';
export { programEffects, programPlan } from './program-plan.js';
export { deafReducer, programReducer } from './program-reducer.js';
export {
  anyPlanProgram,
  anyReducerProgram,
  anySchedule,
  PROGRAM_CELLS,
  type ScheduledRequest,
  type ScheduleStep,
} from './programs.js';
export { type AnyTextOptions, anyTextAround, anyTextOf, type TextLengths } from './texts.js';
export {
  anyAddress,
  anyEffect,
  anyEvent,
  anyReceipt,
} from './values.js';
