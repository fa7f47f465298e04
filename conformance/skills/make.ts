/** Makes folders of skills in the form of the Agent Skills standard, every second one with one fault. */

/** A generated folder. */
export interface Made {
  readonly folder: string;
  readonly valid: boolean;
  /** What is odd about it. */
  readonly what: string;
  /** File names and their texts. */
  readonly files: Readonly<Record<string, string>>;
  /** Whether it is valid and something in it is read with a warning. */
  readonly isOdd?: boolean;
}

/** Fields in the order in which they are written; each is its lines. */
type Fields = Record<string, string>;

/** Makes so many folders; every second one is invalid. The same seed gives the same folders. */
export function makeSkills(count: number, seed: number): readonly Made[] {
  const pick = new Picker(seed);
  return Array.from({ length: count }, (_, i) => (i % 2 === 0 ? validSkill(pick, i) : invalidSkill(pick, i)));
}

/** Small numbers from a seed: xorshift, 32 bits. */
class Picker {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed * 2_654_435_761) >>> 0 || 1;
  }

  below(n: number): number {
    this.#state ^= this.#state << 13;
    this.#state >>>= 0;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    this.#state >>>= 0;
    return this.#state % n;
  }

  of<T>(all: readonly T[]): T {
    return all[this.below(all.length)] as T;
  }

  chance(percent: number): boolean {
    return this.below(100) < percent;
  }
}

const WORDS = [
  'review',
  'tests',
  'pdf',
  'plan',
  'data',
  'api',
  'release',
  'notes',
  'sql',
  'x',
  '2',
  '7z',
  'design',
] as const;

function name(pick: Picker, i: number): string {
  if (pick.chance(4)) return `${i}-${'n'.repeat(60)}`.slice(0, 64);
  return [...Array.from({ length: 1 + pick.below(3) }, () => pick.of(WORDS)), String(i)].join('-');
}

const DESCRIPTIONS: readonly (readonly [what: string, lines: string])[] = [
  ['a plain description', 'description: Extracts text and tables. Use when a file is a PDF.'],
  ['a quoted description', 'description: "Reviews: code, tests # and docs"'],
  ['a description in single quotes', "description: 'It''s for plans'"],
  ['a folded description', 'description: >\n  Reviews code\n  in two steps.'],
  ['a literal description', 'description: |-\n  Reviews code.\n\n  Twice.'],
  ['a description over two lines', 'description: Reviews code\n  and more of it'],
  ['a description with other letters', 'description: Prüft Größen, 日本語, and 🔒'],
  ['a description of 1,024 characters', `description: ${'d'.repeat(1_024)}`],
  ['a description with a dash line in quotes', 'description: "one -- two - three"'],
  ['a description that is a number', 'description: 42'],
  ['a description with a colon inside a word', 'description: see https://example.com/a:b'],
];

const LICENSES = [
  'license: MIT',
  'license: "Proprietary. LICENSE.txt has complete terms"',
  'license: Apache-2.0 # yes',
] as const;
const TOOLS = ['allowed-tools: Read Grep', 'allowed-tools: "Bash(git:*) Write"'] as const;
const COMPATIBILITY = [
  'compatibility: Needs git and jq',
  `compatibility: ${'c'.repeat(500)}`,
  'compatibility: "any"',
] as const;
const METADATA = [
  'metadata:\n  author: ann\n  version: "1.0"',
  'metadata:\n  reprise-tools: "Read Grep"\n  reprise-triggers: "review; code review"',
  'metadata: { author: ann, reprise-tools: "" }',
  'metadata: {}',
  'metadata:\n    deep: 1\n    deeper: true',
] as const;
const BODIES = ['# How\n\nDo it.\n', '', '\n\n  indented\n', 'One line', '# Table\n\n| a | b |\n| - | - |\n'] as const;

function validFields(pick: Picker, called: string): { readonly fields: Fields; readonly what: string } {
  const [what, description] = pick.of(DESCRIPTIONS);
  const written = pick.of([
    `name: ${called}`,
    `name: "${called}"`,
    `name: '${called}'`,
    `name:   ${called}   # its folder`,
  ]);
  const fields: Fields = { name: written, description };
  if (pick.chance(40)) fields.license = pick.of(LICENSES);
  if (pick.chance(30)) fields.compatibility = pick.of(COMPATIBILITY);
  if (pick.chance(30)) fields['allowed-tools'] = pick.of(TOOLS);
  if (pick.chance(60)) fields.metadata = pick.of(METADATA);
  return { fields, what };
}

function written(pick: Picker, fields: Fields): string {
  const all = Object.entries(fields);
  const lines = (pick.chance(30) ? all.toReversed() : all).map(([, line]) => line);
  const head = pick.chance(15) ? ['# A skill', ...lines] : lines;
  const text = `---\n${head.join('\n')}\n---\n${pick.of(BODIES)}`;
  return pick.chance(15) ? text.replaceAll('\n', '\r\n') : text;
}

function validSkill(pick: Picker, i: number): Made {
  const folder = name(pick, i);
  const { fields, what: plain } = validFields(pick, folder);
  const file = pick.chance(8) ? 'skill.md' : 'SKILL.md';
  const [what, writes] = file === 'SKILL.md' && pick.chance(25) ? pick.of(ODD) : [plain];
  writes?.(fields, folder, pick);
  return {
    folder,
    valid: true,
    isOdd: writes !== undefined,
    what,
    files: { [file]: written(pick, fields), ...more(pick) },
  };
}

function more(pick: Picker): Record<string, string> {
  return pick.chance(20) ? { 'REFERENCE.md': '# More\n' } : {};
}

/** Changes fields, or gives the whole text, so that one rule is broken. */
type Fault = readonly [
  what: string,
  breaks: (fields: Fields, folder: string, pick: Picker) => string | null | undefined,
];

function field(key: string, line: (folder: string) => string): Fault[1] {
  return (fields, folder) => {
    fields[key] = line(folder);
    return undefined;
  };
}

/** What other tools write and the standard does not have: read, with a warning that names the line. */
const ODD: readonly Fault[] = [
  ['tools as a field', field('tools', () => 'tools: [Read, Grep]')],
  ['triggers as a field', field('triggers', () => 'triggers:\n  - review')],
  ['an unknown field', field('version', () => 'version: "1.0"')],
  ['a misspelled field', field('descripton', () => 'descripton: Reviews code')],
  ['a colon in a plain description', field('description', () => 'description: Reviews: code')],
  ['brackets in a plain description', field('description', () => 'description: [Reviews] [code]')],
];

const FAULTS: readonly Fault[] = [
  ['no file SKILL.md', () => null],
  ['an empty file', () => ''],
  ['no front matter', () => '# How\n\nDo it.\n'],
  ['a blank line before the front matter', (fields) => `\n---\n${Object.values(fields).join('\n')}\n---\nBody\n`],
  ['front matter that is not closed', (fields) => `---\n${Object.values(fields).join('\n')}\nBody without an end\n`],
  ['front matter that is a list', (_fields, folder) => `---\n- name\n- ${folder}\n---\nBody\n`],
  ['front matter that is a text', () => '---\njust words\n---\nBody\n'],
  ['empty front matter', () => '---\n\n---\nBody\n'],
  ['no name', (fields) => void delete fields.name],
  ['no description', (fields) => void delete fields.description],
  ['an empty name', field('name', () => 'name: ""')],
  ['a blank name', field('name', () => 'name: "  "')],
  ['an empty description', field('description', () => 'description: ""')],
  ['a blank description', field('description', () => 'description: "   "')],
  ['capitals in the name', field('name', (folder) => `name: ${folder.replace(/[a-z]/, (c) => c.toUpperCase())}X`)],
  ['a name of 65 characters', field('name', () => `name: ${'n'.repeat(65)}`)],
  ['a hyphen before the name', field('name', (folder) => `name: -${folder}`)],
  ['a hyphen behind the name', field('name', (folder) => `name: ${folder}-`)],
  ['two hyphens in the name', field('name', (folder) => `name: ${folder}--x`)],
  ['an underscore in the name', field('name', (folder) => `name: ${folder}_x`)],
  ['a space in the name', field('name', (folder) => `name: ${folder} x`)],
  ['a dot in the name', field('name', (folder) => `name: ${folder}.x`)],
  ['a slash in the name', field('name', (folder) => `name: ../${folder}`)],
  ['another name than the folder', field('name', () => 'name: other-skill')],
  ['a description of 1,025 characters', field('description', () => `description: ${'d'.repeat(1_025)}`)],
  ['a compatibility of 501 characters', field('compatibility', () => `compatibility: ${'c'.repeat(501)}`)],
  ['a compatibility that is a number', field('compatibility', () => 'compatibility: 17')],
  ['a compatibility that is a list', field('compatibility', () => 'compatibility: [git]')],
  ['an open quote', field('description', () => 'description: "Reviews code')],
  ['a tab as indentation', field('metadata', () => 'metadata:\n\tauthor: ann')],
  ['a field that stands twice', field('again', () => 'description: Again')],
  ['a key that stands twice in metadata', field('metadata', () => 'metadata:\n  author: ann\n  author: bob')],
  ['a line that is no field', field('stray', () => 'just words')],
];

function invalidSkill(pick: Picker, i: number): Made {
  const folder = name(pick, i);
  const { fields } = validFields(pick, folder);
  const [what, breaks] = FAULTS[(i >> 1) % FAULTS.length] as Fault;
  const text = breaks(fields, folder, pick);
  if (text === null) return { folder, valid: false, what, files: { 'NOTES.md': '# Nothing else\n' } };
  return { folder, valid: false, what, files: { 'SKILL.md': text ?? written(pick, fields), ...more(pick) } };
}
