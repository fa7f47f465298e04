/** Random deployments: the versions of a tool, and of all around it, that the processes of one world have. */
import * as fc from 'fast-check';

/** What the arguments of `pay` are. Each takes `n`; they differ in what else they take and make of it. */
export const SHAPES = ['plain', 'optional', 'default', 'narrow', 'account', 'scaled'] as const;
export type Shape = (typeof SHAPES)[number];

/** When a call of `pay` needs an approval, and whose: the last four are rules. */
export const APPROVALS = ['never', 'always', 'free', 'large', 'ann', 'bob'] as const;
export type Approving = (typeof APPROVALS)[number];

/** A version of the tool `pay`. */
export interface PayVersion {
  readonly description: string;
  /** The description of an argument. */
  readonly label: string;
  readonly shape: Shape;
  readonly guarantee: 'at_most_once' | 'idempotent';
  readonly approval: Approving;
  readonly seconds: number;
  /** Whether its answers have a schema. */
  readonly output: boolean;
  readonly parallel: boolean;
}

/** A build: what one process has. */
export interface Build {
  /** Null: the tool was removed. */
  readonly pay: PayVersion | null;
  readonly policy: 'allow' | 'ask';
  readonly instructions: string;
  /** The description and an optional argument of the tools that defer, ask, and are asked. */
  readonly others: { readonly description: string; readonly note: boolean };
  /** The shape of the agent's final answers. */
  readonly returns: 'text' | 'object' | 'wider';
  /** Whether the app wraps each tool. */
  readonly wrapped: boolean;
  /** What the question of a tool takes as its answer. */
  readonly answers: 'any' | 'text' | 'choice';
  /** How long the agent that listens is to wait, in hours: what waits already keeps its time. */
  readonly hours: 4 | 9;
}

/** What a person does first with a call that waits. */
export const MODES = ['listed', 'by id', 'as seen before', 'deny', 'remember'] as const;
export type Mode = (typeof MODES)[number];

/** What waits when the first process ends. */
export const WAITS = [
  'waiting',
  'flying',
  'standing',
  'deferred',
  'asking',
  'question',
  'child',
  'node',
  'asker',
  'listening',
] as const;
export type Wait = (typeof WAITS)[number];

/** One world. */
export interface Case {
  readonly n: number;
  readonly builds: readonly Build[];
  readonly waits: readonly Wait[];
  readonly mode: Mode;
  /** The build in which the call that waits is decided on. */
  readonly decidedIn: number;
}

const version: fc.Arbitrary<PayVersion> = fc.record({
  description: fc.constantFrom('Pays.', 'Pays a bill.', 'Wipes the account.'),
  label: fc.constantFrom('The amount.', 'The sum.'),
  shape: fc.constantFrom(...SHAPES),
  guarantee: fc.constantFrom('at_most_once' as const, 'idempotent' as const),
  approval: fc.constantFrom(...APPROVALS),
  seconds: fc.constantFrom(30, 60),
  output: fc.boolean(),
  parallel: fc.boolean(),
});

const build: fc.Arbitrary<Build> = fc.record({
  pay: fc.option(version, { freq: 12 }),
  policy: fc.constantFrom('allow' as const, 'allow' as const, 'ask' as const),
  instructions: fc.constantFrom('Pay.', 'Pay at once.'),
  others: fc.record({ description: fc.constantFrom('Does it.', 'Did it.'), note: fc.boolean() }),
  returns: fc.constantFrom('text' as const, 'object' as const, 'wider' as const),
  wrapped: fc.boolean(),
  answers: fc.constantFrom('any' as const, 'text' as const, 'choice' as const),
  hours: fc.constantFrom(4 as const, 9 as const),
});

const EDITED = [
  'description',
  'label',
  'shape',
  'guarantee',
  'approval',
  'seconds',
  'output',
  'parallel',
] as const satisfies readonly (keyof PayVersion)[];

/** Which parts of the next build differ from this one: few, as in most deployments. */
const edit = fc.record({
  fields: fc.subarray([...EDITED], {
    minLength: 0,
    maxLength: 2,
  }),
  removes: fc.integer({ min: 0, max: 14 }).map((n) => n === 0),
  around: fc.boolean(),
  to: build,
});

/** A random case. The first build has the tool, with arguments that fit, and is what a call in flight needs. */
export const anyCase: fc.Arbitrary<Case> = fc
  .record({
    n: fc.constantFrom(3, 9),
    first: build,
    pay: version,
    edits: fc.array(edit, { minLength: 1, maxLength: 2 }),
    waits: fc.subarray([...WAITS], { minLength: 2, maxLength: 4 }),
    mode: fc.constantFrom(...MODES),
    late: fc.boolean(),
  })
  .map(({ n, first, pay, edits, waits, mode, late }) => {
    const shape = pay.shape === 'account' || pay.shape === 'narrow' ? 'plain' : pay.shape;
    const guarantee = waits.includes('flying') ? ('idempotent' as const) : pay.guarantee;
    const builds: Build[] = [{ ...first, pay: { ...pay, shape, guarantee } }];
    for (const { fields, removes, around, to } of edits)
      builds.push(next(builds.at(-1) ?? first, fields, { removes, around, to }));
    return { n, builds, waits, mode, decidedIn: late ? builds.length - 1 : 1 };
  });

function next(
  before: Build,
  fields: readonly (keyof PayVersion)[],
  { removes, around, to }: { readonly removes: boolean; readonly around: boolean; readonly to: Build },
): Build {
  const { pay: _, ...rest } = around ? to : before;
  if (removes) return { ...before, ...rest, pay: null };
  const edits = to.pay === null ? {} : Object.fromEntries(fields.map((field) => [field, to.pay?.[field]]));
  return { ...before, ...rest, pay: before.pay === null ? to.pay : { ...before.pay, ...edits } };
}
