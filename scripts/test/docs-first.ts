/** The page of first mistakes: its programs and commands, run one after another, and what they print. */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { QUIET_SQLITE } from '../lib/quiet-sqlite.js';
import { toJavaScript } from './docs-packages.js';

const SECTION = /^(?=### )/m;
const FENCE = /```(ts|sh)\n([\s\S]*?)^```\n/m;

/** The page with what its mistakes print now. */
export async function printedPage(root: string, folder: string, written: string): Promise<string> {
  const sections = written.split(SECTION);
  const mistakes = sections.filter(isMistake).map(mistakeOf);
  const printed = await run(root, folder, mistakes);
  const page = sections.map((text) => (isMistake(text) ? withPrinted(text, printed.shift() ?? '') : text));
  return `${page.join('').trimEnd()}\n`;
}

interface Mistake {
  readonly kind: 'ts' | 'sh';
  readonly code: string;
}

function isMistake(section: string): boolean {
  return section.startsWith('### ');
}

function mistakeOf(section: string): Mistake {
  const [, kind = '', code = ''] = FENCE.exec(section) ?? [];
  if (kind !== 'ts' && kind !== 'sh') throw new Error(`no program: ${section.slice(0, 80)}`);
  return { kind, code };
}

function withPrinted(section: string, printed: string): string {
  const fence = FENCE.exec(section);
  if (fence === null) throw new Error('no program');
  const end = fence.index + fence[0].length;
  const advice = /^\*\*[\s\S]*$/m.exec(section.slice(end))?.[0] ?? '';
  return `${section.slice(0, end)}\n\`\`\`text\n${printed}\n\`\`\`\n\n${advice.trim()}${advice === '' ? '' : '\n\n'}`;
}

/** What each prints. All run in one process and one folder, so that one may find the files of those before it. */
async function run(root: string, folder: string, mistakes: readonly Mistake[]): Promise<string[]> {
  mkdirSync(path.join(folder, 'app'), { recursive: true });
  for (const [i, { kind, code }] of mistakes.entries())
    writeFileSync(path.join(folder, `mistake-${i}.mjs`), kind === 'ts' ? toJavaScript(code) : commands(code));
  writeFileSync(path.join(folder, 'run.mjs'), runner(mistakes.length));
  const args = ['--import', 'tsx', '--conditions=@reprise/source', path.join(folder, 'run.mjs')];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    ...{ cwd: root, maxBuffer: 2 ** 24 },
    env: { ...process.env, ...QUIET_SQLITE },
  });
  const said = stdout.split('\n').filter((line) => line.startsWith('{"printed"'));
  return said.map((line) => settled((JSON.parse(line) as { printed: string }).printed, folder));
}

/** Commands of a page, run in this process: what they print, and how they end. */
function commands(code: string): string {
  const lines = code.trim().split('\n');
  return `import { runCli } from '@reprise/cli';
const sink = (write) => ({ isTTY: false, columns: undefined, closed: false, write: async (text) => write(text) });
for (const line of ${JSON.stringify(lines)}) {
  const say = (text) => text.trim() === '' || console.log(text.trimEnd());
  const [out, err] = [sink(say), sink(say)];
  const code = await runCli(line.split(' ').slice(2), { out, err, interrupted: () => new AbortController().signal });
  console.log('exit code ' + code);
}
`;
}

/** Without what differs from run to run, and from machine to machine. */
function settled(text: string, folder: string): string {
  return text
    .replaceAll(path.join(folder, 'app'), '/app')
    .replaceAll(/\b[0-9a-f]{64}\b/g, '<id>')
    .replaceAll(/\bprocess,? \d+\b/g, (pid) => pid.replace(/\d+/, '<pid>'))
    .trimEnd();
}

function runner(count: number): string {
  return `import { chdir } from 'node:process';
chdir(new URL('app', import.meta.url).pathname);
const say = process.stdout.write.bind(process.stdout);
for (let i = 0; i < ${count}; i++) {
  let printed = '';
  const take = (...words) => { printed += words.map(String).join(' ') + '\\n'; };
  console.log = take;
  console.error = take;
  process.stdout.write = process.stderr.write = (text) => { printed += text; return true; };
  try {
    await import(\`./mistake-\${i}.mjs\`);
  } catch (error) {
    take(error instanceof Error ? String(error) : error);
  }
  await new Promise((resolve) => setTimeout(resolve, 20));
  say(JSON.stringify({ printed }) + '\\n');
}
process.exit();
`;
}
