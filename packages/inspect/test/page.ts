/** The page's server over a world of a test, and requests to it over real HTTP. */
import { request } from 'node:http';
import type { App, ReadonlyStore, Store } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { allPackages } from '../../cli/src/world/built-in.js';
import { openInspector } from '../src/index.js';

/** What the server answered. */
export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // Reports of many shapes: each test says which fields it looks at.
  // biome-ignore lint/suspicious/noExplicitAny: the type of a parsed answer is that of the question
  readonly json: any;
}

/** A server and its token. */
export interface Page {
  readonly base: string;
  readonly port: number;
  readonly token: string;
  /** Asks a question with the token. */
  ask(path: string, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  /** Sends any request. */
  send(method: string, path: string, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  close(): Promise<void>;
}

const FILES = { html: '<!doctype html><title>World</title>', script: 'void 0;', style: 'body{}' };

/** Opens the server of a file, or of another store. @param app the app of the world; the definitions of all packages when absent */
export async function openPage(place: string | Store, app?: App): Promise<Page> {
  const opened = typeof place === 'string' ? sqlite(place) : place;
  const store = (await opened.openReadonly?.()) as ReadonlyStore;
  const inspector = await openInspector({
    ...{ store, path: opened.label },
    apps: async () => ({ app: app ?? (await allPackages()).app }),
    page: async () => FILES,
  });
  const [base = '', token = ''] = inspector.url.split('/#token=');
  const port = Number(new URL(base).port);
  const send: Page['send'] = (method, path, headers = {}) => sent({ method, port, path, headers });
  return {
    ...{ base, port, token, send },
    ask: (path, headers = {}) => send('GET', path, { 'x-reprise-token': token, ...headers }),
    close: async () => {
      await inspector.close();
      await store.close();
    },
  };
}

function sent(options: {
  readonly method: string;
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', agent: false, ...options }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (more: string) => {
        text += more;
      });
      response.once('error', reject).once('end', () => {
        const { statusCode: status = 0, headers } = response;
        const isJson = text !== '' && String(headers['content-type']).startsWith('application/json');
        resolve({ status, headers, text, json: isJson ? JSON.parse(text) : undefined });
      });
    });
    outgoing.once('error', reject).end();
  });
}

/** The kinds of questions, each with parameters that fit a world of the scene. */
export const QUESTIONS: Readonly<Record<string, string>> = {
  world: '',
  sessions: 'at=9',
  now: 'at=9',
  waiting: 'at=9&limit=2',
  cost: 'by=agent,day&at=9',
  diff: 'a=2&b=9',
  rights: 'holder=operator&at=9',
  memory: 'at=16&limit=3',
  readers: 'item=project:party&at=16&limit=5',
  society: 'at=9',
  trust: 'at=9&limit=3',
  prompt: 'call=last',
  trouble: 'at=9&all=1',
  story: 'at=9&limit=5',
  strip: 'buckets=10',
  cells: 'at=9&limit=5',
  state: 'cell=tree/Tree@1/upgrade&at=12',
  tree: 'name=upgrade&at=12',
  team: 'project=party',
  records: 'from=2&limit=3',
  record: 'frame=2&i=0',
  blob: 'digest=sha256:DIGEST',
  search: 'q=party',
};
