/** Packages that only some programs install: where one is missing, its first use says so, with the command that installs it. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { missingPackage } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('program.ts', import.meta.url));
const ARBITRARIES = 'runtime_unsupported: npm install --save-dev fast-check';
const CLIENT = 'runtime_unsupported: npm install @modelcontextprotocol/client';
const SERVER = 'runtime_unsupported: npm install @modelcontextprotocol/server';

describe('a package that is not installed', () => {
  it('a missing package is named with the command that installs it at the first use of each entry that needs one, and the entries can be imported without it', async () => {
    const options = ['--conditions=@reprise/source', '--import', 'tsx', PROGRAM];
    const { stdout } = await promisify(execFile)(process.execPath, options);
    expect(JSON.parse(stdout)).toEqual({
      'import reprise/testing': 'works',
      'import reprise/testing/ports': ARBITRARIES,
      'import reprise/testing/simulator': 'works',
      'import reprise/mcp': 'works',
      'open a world with mcp': CLIENT,
      'define an agent with mcp': CLIENT,
      'import reprise/server': 'works',
      serveHttp: SERVER,
      serveStdio: SERVER,
      mcpServer: SERVER,
      'import reprise/tree/serve': 'works',
      'import reprise/sandbox': 'works',
      bundlePureCode: expect.stringMatching(/^runtime_unsupported: .*npm install --save-dev esbuild/),
    });
  });

  it('a missing package is told apart from another module that is missing, and from any other failure, which stay as they are', () => {
    const needed = { what: 'MCP servers', name: '@modelcontextprotocol/client' };
    const failed = (code: string, message: string) => Object.assign(new Error(message), { code });
    const own = failed('ERR_MODULE_NOT_FOUND', "Cannot find package '@modelcontextprotocol/client' imported from a.js");
    expect(missingPackage(own, needed)).toMatchObject({ code: 'runtime_unsupported', cause: own });
    for (const other of [failed('ERR_MODULE_NOT_FOUND', "Cannot find package 'zod'"), failed('EACCES', own.message), 7])
      expect(missingPackage(other, needed)).toBe(other);
  });
});
