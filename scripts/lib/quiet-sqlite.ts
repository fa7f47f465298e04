/**
 * The environment of a program that a page shows: Node 22 says on standard error that its SQLite is experimental, at its
 * first use. The pages show what later versions print, and the tutorial says what Node 22 adds.
 */
const SAYS_SO = /^v22\./;

/** Variables for such a program; it says nothing of SQLite then. */
export const QUIET_SQLITE: NodeJS.ProcessEnv = SAYS_SO.test(process.version)
  ? { NODE_OPTIONS: '--disable-warning=ExperimentalWarning' }
  : {};
