/**
 * The cost of the types of tools for a compiler, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/tool-types.ts
 *
 * A program of 30 tools with their schemas is compiled against the declarations of the agent package, beside the same
 * schemas without tools. The bar is the one at which editors stay quick: 25,000 instantiations.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const TSC = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
const TOOLS = 30;
const INSTANTIATIONS_MAX = 25_000;

const folder = await mkdtemp(path.join(tmpdir(), 'reprise-types-'));
try {
  await declare();
  const plain = await compile('plain', schemas());
  const tools = await compile('tools', `${schemas()}${definitions()}`);
  await mustNotCompile('broken', `${schemas()}${definitions().replace('args.text0', 'args.text0.nothing')}`);
  console.log(`plain zod: ${plain.instantiations} instantiations, check ${plain.seconds} s, ${plain.kilobytes} KB`);
  console.log(
    `${TOOLS} tools: ${tools.instantiations} instantiations, check ${tools.seconds} s, ${tools.kilobytes} KB`,
  );
  if (tools.instantiations > INSTANTIATIONS_MAX) throw new Error(`more than ${INSTANTIATIONS_MAX} instantiations`);
  if (tools.instantiations <= plain.instantiations) throw new Error('the tools were not compiled');
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** The declarations of the packages, as a user's compiler sees them. */
async function declare(): Promise<void> {
  await mkdir(path.join(folder, 'node_modules'), { recursive: true });
  await symlink(path.join(ROOT, 'node_modules', 'zod'), path.join(folder, 'node_modules', 'zod'));
  await symlink(path.join(ROOT, 'node_modules', '@types'), path.join(folder, 'node_modules', '@types'));
  const config = {
    extends: path.join(ROOT, 'tsconfig.types.json'),
    compilerOptions: { rootDir: ROOT, outDir: path.join(folder, 'types'), noCheck: true },
    include: [],
    files: [path.join(ROOT, 'packages/agent/src/index.ts')],
  };
  await writeFile(path.join(ROOT, 'tsconfig.tool-types.tmp.json'), JSON.stringify(config));
  try {
    const { code, output } = await tsc(ROOT, 'tsconfig.tool-types.tmp.json');
    if (code !== 0) throw new Error(`the declarations could not be made:\n${output}`);
  } finally {
    await rm(path.join(ROOT, 'tsconfig.tool-types.tmp.json'), { force: true });
  }
}

function schemas(): string {
  const fields = (n: number) =>
    `text${n}: z.string().min(1), count: z.int().default(${n}), list: z.array(z.string()).optional()`;
  const lines = Array.from({ length: TOOLS }, (_, n) => `export const args${n} = z.strictObject({ ${fields(n)} });`);
  return `import * as z from 'zod';\n${lines.join('\n')}\n`;
}

function definitions(): string {
  const one = (n: number) =>
    `export const tool${n} = defineTool({ name: 'tool${n}', description: 'd', args: args${n}, timeout: '10s',
  approval: ({ args }) => args.count > 5, resource: (args) => args.text${n},
  run: (args, ctx: ToolContext<Deps>) => ctx.deps.say(args.text${n}, args.list?.length ?? args.count) });`;
  const tools = Array.from({ length: TOOLS }, (_, n) => one(n));
  const names = Array.from({ length: TOOLS }, (_, n) => `tool${n}`).join(', ');
  return `import { defineTool, defineAgent, type DepsOf, type ToolContext } from '@reprise/agent';
interface Deps { say(text: string, count: number): Promise<string> }
${tools.join('\n')}
export const tools = [${names}] as const;
export const agent = defineAgent({ name: 'a', model: 'main', instructions: 'x', tools });
export const deps: DepsOf<typeof tools> = { say: async (text, count) => text.repeat(count) };
`;
}

async function compile(name: string, source: string) {
  const { code, output } = await run(name, source);
  if (code !== 0) throw new Error(`${name} does not compile:\n${output.slice(0, 4_000)}`);
  const figure = (what: string) => Number(new RegExp(`^${what}:\\s+([\\d.]+)`, 'm').exec(output)?.[1] ?? Number.NaN);
  return {
    instantiations: figure('Instantiations'),
    seconds: figure('Check time'),
    kilobytes: figure('Memory used'),
  };
}

async function mustNotCompile(name: string, source: string): Promise<void> {
  const { code, output } = await run(name, source);
  if (code === 0 || !output.includes('TS2339')) throw new Error(`${name} compiles: the arguments have no types`);
}

async function run(name: string, source: string) {
  const packages = ['contracts', 'kernel', 'agent'];
  const paths = Object.fromEntries(packages.map((p) => [`@reprise/${p}`, [`./types/packages/${p}/src/index.d.ts`]]));
  const config = {
    compilerOptions: {
      target: 'ES2022',
      module: 'NodeNext',
      moduleResolution: 'NodeNext',
      lib: ['ES2023', 'ESNext.Disposable'],
      strict: true,
      skipLibCheck: true,
      noEmit: true,
      types: ['node'],
      paths: { ...paths, '@reprise/kernel/define': ['./types/packages/kernel/src/define/index.d.ts'] },
    },
    files: [`${name}.ts`],
  };
  await writeFile(path.join(folder, `${name}.ts`), source);
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(path.join(folder, `tsconfig.${name}.json`), JSON.stringify(config));
  return tsc(folder, `tsconfig.${name}.json`, '--extendedDiagnostics');
}

function tsc(cwd: string, project: string, ...more: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [TSC, '-p', project, ...more], { cwd, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : 1, output: `${stdout}${stderr}` });
    });
  });
}
