/** The digests of a tool: what counts as its meaning, as its words, and as the way it is run. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolVersion } from '../../src/index.js';
import { differsInSchema, digestsOf } from '../../src/tools/tool/version.js';

const FIRST: ToolVersion = {
  name: 'pay',
  description: 'Pays.',
  schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
  kind: 'tool',
  fingerprint: '0'.repeat(64),
  guarantee: 'at_most_once',
  family: 'default',
  parallel: true,
  polling: false,
  on_unknown: 'tell_model',
  approval: 'always',
};

const HINTS = { read_only: false, destructive: true, idempotent: false, open_world: true };
const descriptor = (n: number) => ({ asValue: n }) as never;

type Digest = keyof ReturnType<typeof digestsOf>;

/** The digests that differ between two versions. */
function differing(a: ToolVersion, b: ToolVersion): readonly Digest[] {
  const [one, other] = [digestsOf(a), digestsOf(b)];
  return (['meaning', 'words', 'running'] as const).filter((digest) => one[digest] !== other[digest]);
}

const property = (field: object): Partial<ToolVersion> => ({
  schema: { type: 'object', properties: { n: { type: 'integer', ...field } }, required: ['n'] } as never,
});

const EDITS: readonly (readonly [what: string, edit: Partial<ToolVersion>, digests: readonly Digest[]])[] = [
  ['the name', { name: 'send' }, ['meaning']],
  ['the kind', { kind: 'ask' }, ['meaning']],
  ['the guarantee', { guarantee: 'idempotent' }, ['meaning']],
  ['the kind of approval', { approval: 'rule' }, ['meaning']],
  ['the type of an argument', property({ type: 'string' }), ['meaning']],
  ['a default', property({ default: 1 }), ['meaning']],
  ['a bound', property({ maximum: 5 }), ['meaning']],
  ['the description', { description: 'Wipes the account.' }, ['words']],
  ['the title of an argument', property({ title: 'All' }), ['words']],
  ['the description of an argument', property({ description: 'What is wiped.' }), ['words']],
  ['examples', property({ examples: [1] }), ['words']],
  ['a comment', property({ $comment: 'x' }), ['words']],
  ['the time limit', { timeout_ms: 5 }, ['running']],
  ['the family', { family: 'edit' }, ['running']],
  ['whether it runs alone', { parallel: false }, ['running']],
  ['whether it is repeated', { polling: true }, ['running']],
  ['what an unknown outcome does', { on_unknown: 'fail' }, ['running']],
  ['the fingerprint', { fingerprint: '1'.repeat(64) }, []],
];

const PLACES: readonly (readonly [what: string, schema: (field: object) => object])[] = [
  ['an argument', (field) => ({ properties: { a: field } })],
  ['a list', (field) => ({ properties: { a: { items: field } } })],
  ['a union', (field) => ({ properties: { a: { anyOf: [{ type: 'null' }, field] } } })],
  ['a definition', (field) => ({ $defs: { a: field } })],
  ['a pattern of names', (field) => ({ patternProperties: { '^a': field } })],
  ['other fields', (field) => ({ additionalProperties: field })],
];

describe('the digests of a tool', () => {
  it('two versions of a tool differ in the schema alone where its kind, its terms and its origin are the same [TOOL-56]', () => {
    const origin = { toolset: 'bank', tool: 'pay', hints: HINTS, descriptor_ref: descriptor(1) };
    const of = (edit: Partial<ToolVersion>) => differsInSchema({ ...FIRST, origin }, { ...FIRST, origin, ...edit });
    for (const edit of [property({ default: 1 }), { description: 'Wipes.' }, { timeout_ms: 5 }])
      expect(of(edit)).toBe(true);
    const { origin: _, ...own } = { ...FIRST, origin };
    expect(differsInSchema({ ...FIRST, origin }, own)).toBe(false);
    for (const edit of [{ toolset: 'other' }, { tool: 'send' }, { hints: { ...HINTS, read_only: true } }])
      expect(of({ origin: { ...origin, ...edit } })).toBe(false);
    for (const edit of [{ kind: 'ask' }, { guarantee: 'idempotent' }, { approval: 'rule' }] as const)
      expect(of(edit)).toBe(false);
  });

  it.each(EDITS)('a change of %s is one of exactly the digests that it belongs to [TOOL-54]', (_, edit, digests) => {
    expect(differing(FIRST, { ...FIRST, ...edit })).toEqual(digests);
  });

  it('a change of the descriptor of a toolset’s tool is one of words, and one of its hints is one of meaning [TOOL-54]', () => {
    const origin = { toolset: 'bank', tool: 'pay', descriptor_ref: descriptor(1), hints: HINTS };
    const from = (more: object): ToolVersion => ({ ...FIRST, origin: { ...origin, ...more } as never });
    expect(differing(from({}), from({ descriptor_ref: descriptor(2) }))).toEqual(['words']);
    expect(differing(from({}), from({ hints: { ...HINTS, destructive: false } }))).toEqual(['meaning']);
    expect(differing(FIRST, from({}))).toEqual(['meaning', 'words']);
  });

  it.each(PLACES)(
    'a text in %s is one of words at any depth, and a field named like a text is one of meaning',
    (_, at) => {
      const inside = (field: object): ToolVersion => ({ ...FIRST, schema: { type: 'object', ...at(field) } as never });
      const text = fc.constantFrom('title', 'description', 'examples', '$comment');
      void fc.assert(
        fc.property(text, fc.string(), fc.integer({ min: 0, max: 3 }), (keyword, said, depth) => {
          const deep = (field: object): object => {
            let whole = field;
            for (let i = 0; i < depth; i++) whole = { type: 'object', properties: { description: whole } };
            return whole;
          };
          expect(
            differing(inside(deep({ type: 'string' })), inside(deep({ type: 'string', [keyword]: said }))),
          ).toEqual(['words']);
          const named = { type: 'object', properties: { [keyword]: { type: 'string' } } };
          expect(differing(inside(deep({ type: 'object', properties: {} })), inside(deep(named)))).toEqual(['meaning']);
          const data = (word: string) => ({ enum: [{ [keyword]: word }] });
          expect(differing(inside(deep(data('a'))), inside(deep(data('b'))))).toEqual(['meaning']);
        }),
        { numRuns: 30 },
      );
    },
  );
});
