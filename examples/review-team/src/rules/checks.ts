/** What the reviewers of the embedded model look for. */

/** How grave a finding is. */
export type Severity = 'high' | 'medium' | 'low';

/** One thing to look for. */
export interface Check {
  /** What is searched for, as a regular expression over one line. */
  readonly pattern: string;
  readonly severity: Severity;
  readonly message: string;
  /** The paths that count. */
  readonly paths: RegExp;
  /** Paths that do not count. */
  readonly not?: RegExp;
  /** Whether comments count. */
  readonly inComments?: true;
}

const CODE = /\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|rb|php|cs|c|h|cpp|sh)$/;
const SCRIPT = /\.[cm]?[jt]sx?$/;
const TYPED = /\.[cm]?tsx?$/;
const TEST = /(?:^|\/)(?:tests?|__tests__|spec|fixtures?|testdata)\/|[._-](?:test|spec)\.|(?:^|\/)test_[^/]*\.py$/;
const AT_A_TERMINAL = /(?:^|\/)(?:bin|cli|scripts?|examples?|bench|conformance|tools?)\//;
const PAGE = /\.(?:md|mdx|rst)$/;

const SECURITY: readonly Check[] = [
  check('\\beval\\(|new Function\\(', 'high', 'code is made of text: do not run what a text says', SCRIPT, TEST),
  check(
    'rejectUnauthorized: *false|NODE_TLS_REJECT_UNAUTHORIZED|verify=False',
    'high',
    'certificates are not checked',
    CODE,
    TEST,
  ),
  check(
    '(?:[Aa]pi[_-]?[Kk]ey|API_?KEY|[Ss]ecret|SECRET|[Pp]assw(?:or)?d|PASSWORD|[Tt]oken|TOKEN)["\']? *[:=] *["\'][A-Za-z0-9_+/=-]{16,}["\']',
    'high',
    'a credential in the source: read it from the environment',
    CODE,
    TEST,
  ),
  check(
    'pickle\\.loads?\\(|yaml\\.load\\((?!.*Safe)|shell=True',
    'high',
    'input can become code or a command',
    /\.py$/,
    TEST,
  ),
  check(
    '(?<![.\\w])exec(?:Sync)?\\(`|(?<![.\\w])exec(?:Sync)?\\([^"\'`)]*\\+|shell: *true',
    'medium',
    'a command line is made of text: pass the arguments as a list',
    SCRIPT,
    TEST,
  ),
  check(
    '\\.innerHTML *=|dangerouslySetInnerHTML',
    'medium',
    'HTML is made of text: set text instead, or clean it',
    SCRIPT,
    TEST,
  ),
  check('createHash\\(["\'](?:md5|sha1)["\']\\)|hashlib\\.(?:md5|sha1)\\(', 'medium', 'a weak hash', CODE, TEST),
  check(
    'Math\\.random\\(\\)',
    'low',
    'this chance can be guessed: not for keys, names of files or identities',
    SCRIPT,
    TEST,
  ),
];

const STYLE: readonly Check[] = [
  check('catch *(?:\\(\\w*\\))? *\\{ *\\}', 'medium', 'an error is swallowed', SCRIPT, TEST),
  check(':\\s*any\\b(?!thing)|\\bas any\\b|<any>', 'medium', 'a type that says nothing', TYPED, TEST),
  check('^\\s*var \\w', 'low', 'use const or let', SCRIPT, TEST),
  check(
    'console\\.(?:log|debug)\\(',
    'low',
    'output that was left behind?',
    SCRIPT,
    new RegExp(`${TEST.source}|${AT_A_TERMINAL.source}`),
  ),
  check('^.{141,}$', 'low', 'a line of more than 140 characters', CODE, TEST),
  { ...check('(?://|#|\\*) *(?:TODO|FIXME|HACK|XXX)\\b', 'low', 'unfinished work', CODE, TEST), inComments: true },
];

const TESTS: readonly Check[] = [
  check('\\b(?:it|test|describe)\\.only\\(|\\bf(?:it|describe)\\(', 'high', 'the other tests do not run', SCRIPT),
  check(
    '\\b(?:it|test|describe)\\.skip\\(|\\bx(?:it|describe)\\(|@unittest\\.skip|@pytest\\.mark\\.skip',
    'medium',
    'a test that does not run',
    CODE,
  ),
  check('\\bexpect\\(true\\)\\.toBe\\(true\\)|assert True\\b', 'medium', 'a test that checks nothing', CODE),
  check(
    'await new Promise\\(\\(?\\w+\\)? *=> *setTimeout\\(\\w+, *\\d{3,}',
    'low',
    'a test that waits for a clock',
    SCRIPT,
  ),
];

const DOCS: readonly Check[] = [
  { ...check('\\b(?:TODO|FIXME|TBD|Lorem ipsum)\\b', 'medium', 'an unfinished page', PAGE), inComments: true },
  check('^export (?:default )?(?:async )?function \\w', 'low', 'an exported function without a comment', SCRIPT, TEST),
];

/** The checks of each reviewer, by its skill. */
export const CHECKS: Readonly<Record<string, readonly Check[]>> = {
  security: SECURITY,
  style: STYLE,
  tests: TESTS.map((one) => ({ ...one, paths: new RegExp(`(?:${TEST.source}).*(?:${one.paths.source})`) })),
  docs: DOCS,
};

/** Whether a path is that of a test. */
export function isTest(path: string): boolean {
  return TEST.test(path);
}

function check(pattern: string, severity: Severity, message: string, paths: RegExp, not?: RegExp): Check {
  return { pattern, severity, message, paths, ...(not === undefined ? {} : { not }) };
}
