/** Suites of checks for implementations of the ports, for adapters and for reducers. */
export {
  type ArgumentOptions,
  anyArguments,
  boundArguments,
  type JsonSchema,
  ODD_TEXTS,
} from '../arbitraries/arguments.js';
export { anyEventOf, anyFitting, type FittingSchema, LINKED_BYTES } from '../arbitraries/fitting.js';
export { type AnyTextOptions, anyTextAround, anyTextOf, type TextLengths } from '../arbitraries/texts.js';
export { type AnyValueOptions, anyValue } from '../arbitraries/values.js';
export { type ReducerSubject, reducerChecks, testReducer } from '../reducers/reducer-suite.js';
export {
  type Check,
  NotApplicable,
  runCheck,
  type SuiteOptions,
  type TestRunner,
  type Waiver,
} from '../suite/suite.js';
export type { AdapterSubject, AnyAdapterSubject, ParamsSource } from './adapter-subject.js';
export { adapterChecks, testAdapter } from './adapter-suite.js';
export { contentStoreChecks, testContentStore } from './content-store-suite.js';
export { type DirectorySubject, directoryChecks, testDirectory } from './directory-suite.js';
export { type FenceSubject, fenceChecks, testFence } from './fence-suite.js';
export { journalChecks, testJournal } from './journal-suite.js';
export { type KeyServiceSubject, keyServiceChecks, testKeyService } from './key-service-suite.js';
export { type ObjectStoreSubject, objectStoreChecks, testObjectStore } from './object-store-suite.js';
export type { StoreSubject } from './store-subject.js';
export { storeChecks, testStore } from './store-suite.js';
export { testViewStore, type ViewStoreSubject, viewStoreChecks } from './view-store-suite.js';
