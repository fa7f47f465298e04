import { ledgerApp } from './ledger.js';

/** Another reducer under the same name: it differs only in a state, which no other record shows. */
export const app = ledgerApp({ note: (text) => `${text}!` });
