/** Texts behind links, and their first words. */
export { firstWords, outputText, plainText, saltedText } from './texts.js';
