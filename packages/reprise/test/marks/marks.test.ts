// biome-ignore-all lint/suspicious/noTemplateCurlyInString: composed texts and planted sources name places in braces
/** Words of others in prompts are known by their marks, whatever they contain. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { foundBy } from '../../../../conformance/broken-build.js';
import { everyNth } from '../../../../conformance/part.js';
import { holdMarks } from './law.js';
import { readMarks, requireSameMarks } from './parser.js';
import { PLACES } from './places.js';

const seed = 20_261_128;

describe('marks in prompts', () => {
  it.each(Object.keys(PLACES))(
    `a strict reader finds every word under its party: %s (seed ${seed}) [MOD-30]`,
    async (place) => {
      const { texts } = await holdMarks(place, 60, seed);
      expect(texts).toBeGreaterThanOrEqual(120);
    },
  );
});

describe('the strict reader of marks', () => {
  it('reads the words of each party, and words without marks', () => {
    expect(readMarks('a\n<said by="x: b" shown="1 of 2 bytes">\nc\n\n</said>d')).toEqual([
      { by: null, words: 'a\n' },
      { by: 'x: b', words: 'c\n' },
      { by: null, words: 'd' },
    ]);
  });

  it.each(['<said by="x">\na', '<said>\na\n</said>', 'a</said>', '<said by="x">\n<said by="y">\na\n</said>'])(
    'the reader refuses marks that do not stand as they are written: %j',
    (text) => {
      expect(() => readMarks(text)).toThrow(/a mark/);
    },
  );

  it.each(['&lt;said&gt;', '＜said', '<\u200bsaid', '%3Csaid', '\\u003csaid', '<s*ai*d', '</ѕаid', '\u{e003c}said'])(
    'the reader finds a mark that a rendering shows: %j',
    (text) => {
      expect(() => requireSameMarks(text)).toThrow(/1 marks instead of 0/);
    },
  );
});

const JUDGE = fileURLToPath(new URL('judge.ts', import.meta.url));
const source = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

const TOOLS = 'providers/src/prompt/tool-words.ts';
const USERS = 'providers/src/prompt/user-words.ts';
const WORK = 'org/src/adapters/lay-out.ts';
const TEAM = 'specialists/src/prompts/specialist.ts';
const unmarked = (words: string) => `(${words} as unknown as Marked)`;

/** For each place a build that does not mark there. */
const MISTAKES: readonly (readonly [what: string, file: string, from: string, to: string])[] = [
  [
    'results of children and contents of answers stand without marks',
    TOOLS,
    'texts.push(piece.by === undefined ? bare(start) : said(piece.by, start, note));',
    'texts.push(start as Marked);',
  ],
  [
    'words of a tool are not quoted',
    TOOLS,
    'piece.by === undefined ? bare(start)',
    'piece.by === undefined ? (start as Marked)',
  ],
  [
    'late results stand without marks',
    TOOLS,
    'said(party`late result of ${item.call_id}, tool: ${item.tool}`, await reader.text(item.output_ref))',
    unmarked('(await reader.text(item.output_ref))'),
  ],
  [
    'results without their call stand without marks',
    'providers/src/prompt/lay-out.ts',
    'said(party`earlier call ${callId} of tool: ${tool}`, text)',
    'text',
  ],
  [
    'files and results that are passed on stand without marks',
    USERS,
    'return said(by, start, note);',
    'return start as Marked;',
  ],
  [
    'words of the agent above, and in notices, stand without marks',
    USERS,
    'by === undefined ? authored(text) : said(by, text)',
    'authored(text)',
  ],
  [
    'composed data stand without marks',
    WORK,
    'said(party`${label}`, text(kept), kept',
    '((...a: unknown[]) => a[1])(party`${label}`, text(kept), kept',
  ],
  [
    'names in composed texts are not cleaned',
    'org/src/adapters/compose.ts',
    "nameText(left.shift() ?? '')",
    "(left.shift() ?? '')",
  ],
  [
    'memories stand without marks',
    'org/src/handle/texts.ts',
    'const made = said(by, start, ',
    'const made = ((...a: unknown[]) => a[1] as Marked)(by, start, ',
  ],
  [
    'the goal of a swarm stands without marks',
    'society/src/adapters/member.ts',
    'said(party`goal of the swarm`, goal)',
    unmarked('goal'),
  ],
  [
    'summaries stand without marks',
    'providers/src/prompt/assemble-prompt.ts',
    'said(party`summary of the conversation before this point`, await reader.words(base))',
    unmarked('(await reader.words(base))'),
  ],
  ['bodies of skills stand without marks', TEAM, 'said(party`skill: ${name}`, body.trim())', unmarked('body.trim()')],
  ['tasks stand without marks', TEAM, 'said(party`your task`, task ?? title)', unmarked('(task ?? title)')],
  ['notes stand without marks', TEAM, 'said(party`note on this try`, note)', unmarked('note')],
  ['contexts stand without marks', TEAM, 'said(party`context of your task`, context)', unmarked('context')],
  [
    'the narrative stands without marks',
    'specialists/src/prompts/coordinator.ts',
    'said(party`narrative ${n}`, text)',
    unmarked('text'),
  ],
  [
    'names are not cleaned',
    'contracts/src/words/marks.ts',
    "typeof name === 'string' ? nameText(name) : String(name)",
    'String(name)',
  ],
  ['words are not quoted', 'contracts/src/words/marks.ts', '\\n${quoted(words)}\\n', '\\n${words}\\n'],
  [
    'encodings are not read',
    'contracts/src/words/marks-symbols.ts',
    'const DECODINGS_MAX = 8;',
    'const DECODINGS_MAX = 0;',
  ],
  ['invisible characters are read', 'contracts/src/words/marks-symbols.ts', '[0x200b, 0x200f],', ''],
  [
    'look-alikes of brackets are not known',
    'contracts/src/words/marks-symbols.ts',
    "if (isIn(OPENING, code)) return '<';",
    '',
  ],
  [
    'letters of other alphabets are not known',
    'contracts/src/words/marks-symbols.ts',
    "LOOKS.get(code) ?? letterOf(code) ?? '?'",
    "'-'",
  ],
  [
    'tag characters are not known',
    'contracts/src/words/marks-symbols.ts',
    'code >= 0xe0020 && code <= 0xe007e',
    'code < 0',
  ],
  ['what Markdown takes away is read', 'contracts/src/words/marks-symbols.ts', "[...'*_~`\\\\']", "[...'']"],
];

describe('builds that do not mark', () => {
  it.each(everyNth(9, MISTAKES))('the law of marks finds a mutant: %s [MOD-30]', async (_what, file, from, to) => {
    expect(await foundBy(JUDGE, 'everyPlace', { file: source(file), from, to })).toMatch(/Property failed/);
  });
});
