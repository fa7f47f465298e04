/** Suites of checks for stores, adapters and reducers of your own. */
import { withFastCheck } from './fast-check.js';

const kit = await withFastCheck(() => import('@reprise/testkit/ports'));

export type {
  AdapterSubject,
  AnyAdapterSubject,
  Check,
  DirectorySubject,
  FenceSubject,
  ReducerSubject,
  StoreSubject,
  TestRunner,
  ViewStoreSubject,
  Waiver,
} from '@reprise/testkit/ports';

/** A check that does not apply to this subject, with the reason. */
export const NotApplicable = kit.NotApplicable;
/** A check that does not apply to this subject, with the reason. */
export type NotApplicable = import('@reprise/testkit/ports').NotApplicable;

/** Runs one check against a fresh subject. */
export const runCheck = kit.runCheck;

/** The contract of the adapter port, as tests. */
export const testAdapter = kit.testAdapter;

/** The contract of the content store port, as tests. */
export const testContentStore = kit.testContentStore;

/** The contract of the directory port, in which a host remembers its worlds, as tests. */
export const testDirectory = kit.testDirectory;

/** The contract of stores that several processes share, as tests. */
export const testFence = kit.testFence;

/** The contract of the journal port, as tests. */
export const testJournal = kit.testJournal;

/** The laws of reducers, as tests. */
export const testReducer = kit.testReducer;

/** The contract of the store port, as tests. */
export const testStore = kit.testStore;

/** The contract of the view store port, as tests. */
export const testViewStore = kit.testViewStore;

/** The checks of each suite, by what it tests, to run one alone with {@link runCheck}. */
export const checks = {
  adapter: kit.adapterChecks,
  contentStore: kit.contentStoreChecks,
  directory: kit.directoryChecks,
  fence: kit.fenceChecks,
  journal: kit.journalChecks,
  reducer: kit.reducerChecks,
  store: kit.storeChecks,
  viewStore: kit.viewStoreChecks,
};

/** Arbitraries of fast-check for tests of your own, and the texts and the content that they use. */
export const arbitraries = {
  /** Any arguments for a tool. */
  arguments: kit.anyArguments,
  /** Arguments with each of their texts at each of its bounds and one character beyond, in characters of one unit and of two. */
  boundArguments: kit.boundArguments,
  /** Any event that a reducer takes from outside, made from its schemas. */
  eventOf: kit.anyEventOf,
  /** Any value that passes a schema. */
  fitting: kit.anyFitting,
  /** The content behind every link of a generated value. */
  linkedBytes: kit.LINKED_BYTES,
  /** Texts that are no key, no name and no path, or that code mistakes for one. */
  oddTexts: kit.ODD_TEXTS,
  /** Any text at a bound. */
  textAround: kit.anyTextAround,
  /** Any text of exactly so many characters, all of one class or mixed. */
  textOf: kit.anyTextOf,
  /** Any value that can be encoded: links, bytes and nested maps included. */
  value: kit.anyValue,
};
