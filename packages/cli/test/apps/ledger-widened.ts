import { ledgerApp } from './ledger.js';

/** What is added may be at most 1,000: everything that was recorded still fits. */
export const app = ledgerApp({ by: (by) => by.max(1_000) });
