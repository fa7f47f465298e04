import { ledgerApp } from './ledger.js';

/** The app that the tests' worlds are written with. */
export default ledgerApp();
