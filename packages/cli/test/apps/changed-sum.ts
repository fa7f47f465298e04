import { ledgerApp } from './ledger.js';

/** Another reducer under the same name: it differs only when 3 is added. */
export const app = ledgerApp({ sum: (total, by) => (by === 3 ? total + by + 1 : total + by) });
