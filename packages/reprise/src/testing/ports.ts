/** Suites of checks for stores, adapters and reducers of your own. */
import { testkit } from './testkit.js';

const kit = await testkit(() => import('@reprise/testkit/ports'));

export type {
  AdapterSubject,
  AnyAdapterSubject,
  AnyTextOptions,
  AnyValueOptions,
  ArgumentOptions,
  Check,
  DirectorySubject,
  FittingSchema,
  JsonSchema,
  ParamsSource,
  ReducerSubject,
  StoreSubject,
  SuiteOptions,
  TestRunner,
  TextLengths,
  ViewStoreSubject,
  Waiver,
} from '@reprise/testkit/ports';

/** The checks of {@link testAdapter}, to run one alone. */
export const adapterChecks = kit.adapterChecks;

/** Any arguments for a tool. */
export const anyArguments = kit.anyArguments;

/** Any event that a reducer takes from outside, made from its schemas. */
export const anyEventOf = kit.anyEventOf;

/** Any value that passes a schema. */
export const anyFitting = kit.anyFitting;

/** Any text at a bound. */
export const anyTextAround = kit.anyTextAround;

/** Any text of exactly so many characters, all of one class or mixed. */
export const anyTextOf = kit.anyTextOf;

/** Any value that can be encoded: links, bytes and nested maps included. */
export const anyValue = kit.anyValue;

/** Arguments with each of their texts at each of its bounds and one character beyond, in characters of one unit and of two. */
export const boundArguments = kit.boundArguments;

/** The checks of {@link testContentStore}, to run one alone. */
export const contentStoreChecks = kit.contentStoreChecks;

/** The checks of {@link testDirectory}, to run one alone. */
export const directoryChecks = kit.directoryChecks;

/** The checks of {@link testJournal}, to run one alone. */
export const journalChecks = kit.journalChecks;

/** The content behind every link of a generated value. */
export const LINKED_BYTES = kit.LINKED_BYTES;

/** A check that does not apply to this subject, with the reason. */
export const NotApplicable = kit.NotApplicable;
/** A check that does not apply to this subject, with the reason. */
export type NotApplicable = import('@reprise/testkit/ports').NotApplicable;

/** Texts that are no key, no name and no path, or that code mistakes for one. */
export const ODD_TEXTS = kit.ODD_TEXTS;

/** The checks of {@link testReducer}, to run one alone. */
export const reducerChecks = kit.reducerChecks;

/** Runs one check against a fresh subject. */
export const runCheck = kit.runCheck;

/** The checks of {@link testStore}, to run one alone. */
export const storeChecks = kit.storeChecks;

/** The contract of the adapter port, as tests. */
export const testAdapter = kit.testAdapter;

/** The contract of the content store port, as tests. */
export const testContentStore = kit.testContentStore;

/** The contract of the directory port, in which a host remembers its worlds, as tests. */
export const testDirectory = kit.testDirectory;

/** The contract of the journal port, as tests. */
export const testJournal = kit.testJournal;

/** The laws of reducers, as tests. */
export const testReducer = kit.testReducer;

/** The contract of the store port, as tests. */
export const testStore = kit.testStore;

/** The contract of the view store port, as tests. */
export const testViewStore = kit.testViewStore;

/** The checks of {@link testViewStore}, to run one alone. */
export const viewStoreChecks = kit.viewStoreChecks;
