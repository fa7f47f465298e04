/** Runs programs one after the other in this process, each in an empty folder of its own. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder = '.', ...programs] = process.argv.slice(2);
for (const program of programs) {
  const own = path.join(folder, path.basename(path.dirname(program)), path.basename(program, '.js'));
  mkdirSync(own, { recursive: true });
  process.chdir(own);
  process.argv = [process.argv0, program]; // some take arguments
  await import(pathToFileURL(program).href);
}
