/** Programs in processes that stand somewhere else: in another time zone, with another language. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The place of a process, as its environment defines it. */
export type Place = Readonly<Partial<Record<'TZ' | 'LANG' | 'LC_ALL', string>>>;

/** A day ahead of most of the world, and a language that writes small letters and numbers otherwise. */
export const ELSEWHERE = { TZ: 'Pacific/Apia', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' } as const satisfies Place;

/**
 * Runs a TypeScript program in another process.
 *
 * @returns its output
 * @throws Error with its complaints when it fails
 */
export async function printedAt(place: Place, program: URL, ...args: readonly string[]): Promise<string> {
  const argv = [
    '--conditions=@reprise/source',
    '--import',
    import.meta.resolve('tsx'),
    fileURLToPath(program),
    ...args,
  ];
  const child = spawn(process.execPath, argv, { env: { ...process.env, ...place } });
  const [out, complaints] = [child.stdout, child.stderr].map(async (stream) => {
    const pieces: Buffer[] = [];
    for await (const piece of stream) pieces.push(piece as Buffer);
    return Buffer.concat(pieces).toString();
  }) as [Promise<string>, Promise<string>];
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0)
    throw new Error(`${fileURLToPath(program)} ended with ${code}: ${(await complaints).slice(0, 2_000)}`);
  return out;
}
