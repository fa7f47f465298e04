/** Verifies a file in real threads, which open it and load the app by themselves. */
import { fileURLToPath } from 'node:url';
import { isRepriseError, type RepriseError } from '@reprise/contracts';
import { type App, type VerifyOptions, type VerifyReport, verifyStore } from '@reprise/kernel';
import { sandbox } from '@reprise/sandbox';
import { sqlite } from '@reprise/store-sqlite';
import { VerifyThreads } from '../src/verify/threads.js';

/** What a verification found. */
export type Verdict = VerifyReport | RepriseError;

/** What is verified. */
export interface Asked {
  /** The module that threads load the app from. */
  readonly module: string;
  readonly app: App;
  readonly pureCode?: boolean;
  readonly threads?: Partial<ConstructorParameters<typeof VerifyThreads>[1]>;
}

/** The module of an app by its name, as a path. */
export const appAt = (name: string) => fileURLToPath(new URL(`apps/${name}.ts`, import.meta.url));

/** Verifies a file in threads. @returns the verdict, and the threads, which have ended */
export async function inThreads(path: string, { module, app: own, pureCode: carries = false, threads }: Asked) {
  const task = { world: path, app: appAt(module), legacy: [], pureCode: carries, thorough: false };
  const workers = new VerifyThreads(task, { size: 2, framesMin: 1, ...threads });
  const code = carries ? { code: sandbox() } : {};
  try {
    return { verdict: await verdictOn(path, { app: own, workers, ...code }), workers };
  } finally {
    await workers.close();
  }
}

/** Verifies a file. @returns the report, or the error */
export async function verdictOn(path: string, options: VerifyOptions): Promise<Verdict> {
  const store = await sqlite(path).openReadonly();
  try {
    return await verifyStore(store, options);
  } catch (error) {
    if (isRepriseError(error)) return error;
    throw error;
  } finally {
    await store.close();
  }
}
