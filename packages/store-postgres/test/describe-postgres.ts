/** Tests that need a PostgreSQL: one server for a file, and a fresh name for each world. */
import { afterAll, beforeAll, describe } from 'vitest';
import { postgresBin, startServer, type TestServer } from './server.js';

/** Where `REPRISE_POSTGRES` says `must`, a missing server is a failure; where it says `none`, these tests are left out. */
const asked = process.env.REPRISE_POSTGRES;

/** The server of a test file, while its tests run. */
export interface OwnServer {
  readonly url: string;
  readonly server: TestServer;
  /** A name that no other test of the file has. */
  fresh(): string;
}

/** Describes tests of a file that share a server. Where none is installed they are skipped, unless they must run. */
export function describePostgres(title: string, body: (own: OwnServer) => void): void {
  const absent = asked === 'none' || (postgresBin() === undefined && asked !== 'must');
  describe.skipIf(absent)(absent ? `${title} (skipped: no PostgreSQL is installed)` : title, () => {
    let server: TestServer | undefined;
    let names = 0;
    beforeAll(async () => {
      server = await startServer();
    });
    afterAll(() => server?.stop());
    body({
      get url() {
        return this.server.url;
      },
      get server() {
        if (server === undefined) throw new Error('the server runs only while a test does');
        return server;
      },
      fresh: () => `w${++names}`,
    });
  });
}
