export { anyEventOf, anyFitting, type FittingSchema, LINKED_BYTES } from './fitting.js';
export * from './program.js';
export { programAdapters, programApp } from './program-app.js';
export { programEffects, programPlan } from './program-plan.js';
export { deafReducer, programReducer } from './program-reducer.js';
export {
  type AnyProgramOptions,
  type AnyScheduleOptions,
  anyPlanProgram,
  anyReducerProgram,
  anySchedule,
  PROGRAM_CELLS,
  type ScheduledRequest,
  type ScheduleStep,
} from './programs.js';
export {
  type AnyValueOptions,
  anyAddress,
  anyEffect,
  anyEvent,
  anyReceipt,
  anyValue,
  type FittingEffect,
  ODD_KEYS,
} from './values.js';
