/** Opens an address in the browser of the user. */
import { spawn } from 'node:child_process';

/** The program of each system that opens an address. */
const OPENERS: { readonly [P in NodeJS.Platform]?: readonly [program: string, ...args: string[]] } = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Where a desktop follows the standard of freedesktop.org. */
const OTHERWISE = ['xdg-open'] as const;

/** Opens an address. The browser is on its own: it goes on when this process ends. @param refused is told when no browser could be opened */
export function openBrowser(url: string, refused: (why: string) => void): void {
  const [program, ...args] = OPENERS[process.platform] ?? OTHERWISE;
  const opener = spawn(program, [...args, url], { detached: true, stdio: 'ignore' });
  opener.once('error', () => refused('No browser could be opened: open the line above in one. --no-open opens none.'));
  opener.unref();
}
