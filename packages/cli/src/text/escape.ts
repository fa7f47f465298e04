/** Texts of a world for a terminal. */
export { escapeLine, escapeText } from '@reprise/contracts';
