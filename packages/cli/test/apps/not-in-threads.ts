import { isMainThread } from 'node:worker_threads';
import { ledgerApp } from './ledger.js';

if (!isMainThread) throw new Error('this module is for the first thread');

/** The app of a module that cannot be loaded in a thread. */
export const app = ledgerApp();
