/** The page of mistakes: its code, compiled and run, and the answers that it gets. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { toJavaScript } from './docs-packages.js';
import { typeProblems } from './docs-types.js';

/** A mistake of the page. */
interface Mistake {
  readonly title: string;
  readonly code: string;
}

const SECTION = /^(?=#{2,3} )/m;
const FENCE = /```ts\n([\s\S]*?)^```\n/m;
/** The shared lines declare more than each mistake uses. */
const UNUSED = /is declared but|All imports in import declaration are unused/;
const DIGEST = /\b[0-9a-f]{64}\b/g;

/** The page with the answers that its mistakes get now. */
export async function answeredPage(root: string, folder: string, written: string): Promise<string> {
  const sections = written.split(SECTION);
  const setting = codeOf(sections[0] ?? '');
  const mistakes = sections.filter(isMistake).map((text) => ({ title: titleOf(text), code: setting + codeOf(text) }));
  const [compiled, thrown] = [compile(root, mistakes), await run(root, folder, mistakes)];
  const answers = mistakes.map((_, i) => answerOf(compiled[i] ?? [], thrown[i]));
  const page = sections.map((text) => (isMistake(text) ? withAnswer(text, answers.shift() ?? '') : text));
  return `${page.join('').trimEnd()}\n`;
}

function isMistake(section: string): boolean {
  return section.startsWith('### ');
}

function titleOf(section: string): string {
  return section.slice(4, section.indexOf('\n'));
}

function codeOf(section: string): string {
  return FENCE.exec(section)?.[1] ?? '';
}

function withAnswer(section: string, answer: string): string {
  const fence = FENCE.exec(section);
  if (fence === null) throw new Error(`no code: ${titleOf(section)}`);
  return `${section.slice(0, fence.index + fence[0].length)}\n${answer}\n\n`;
}

function answerOf(compiled: readonly string[], thrown: string | null | undefined): string {
  const parts = [
    compiled.length === 0 ? 'It compiles.' : `The compiler:\n\n${fenced(compiled.join('\n'))}`,
    thrown == null ? 'At run time it is not refused here.' : `At run time:\n\n${fenced(thrown)}`,
  ];
  return parts.join('\n\n');
}

function fenced(text: string): string {
  return `\`\`\`text\n${text}\n\`\`\``;
}

/** The first error of the compiler for each mistake: its first line and its last, which names the cause. */
function compile(root: string, mistakes: readonly Mistake[]): string[][] {
  const nameOf = (i: number) => path.join(root, 'mistakes', `mistake-${i}.ts`);
  const problems = typeProblems(root, new Map(mistakes.map(({ code }, i) => [nameOf(i), code])));
  return mistakes.map((_, i) => {
    const own = problems.filter((line) => line.startsWith(`mistakes/mistake-${i}.ts:`) && !UNUSED.test(line));
    const lines = own[0]?.replace(/^\S+ \(.*?\): (?=[A-Z])/s, '').split('\n') ?? [];
    const [first, ...more] = lines.map((line) => line.trim());
    return [first, more.at(-1)].filter((line) => line !== undefined);
  });
}

/** What each mistake throws when it is run; null for nothing. All run in one process, one after another. */
async function run(root: string, folder: string, mistakes: readonly Mistake[]): Promise<(string | null)[]> {
  for (const [i, { code }] of mistakes.entries())
    writeFileSync(path.join(folder, `mistake-${i}.mjs`), toJavaScript(code));
  writeFileSync(path.join(folder, 'run.mjs'), runner(mistakes.length));
  const args = ['--import', 'tsx', '--conditions=@reprise/source', path.join(folder, 'run.mjs')];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  const said = stdout.split('\n').filter((line) => line.startsWith('{'));
  return said.map((line) => (JSON.parse(line) as { thrown: string | null }).thrown?.replace(DIGEST, '<id>') ?? null);
}

function runner(count: number): string {
  return `for (let i = 0; i < ${count}; i++) {
  let thrown = null;
  try {
    await import(\`./mistake-\${i}.mjs\`);
  } catch (error) {
    thrown = String(error);
  }
  console.log(JSON.stringify({ thrown }));
}
process.exit();
`;
}
