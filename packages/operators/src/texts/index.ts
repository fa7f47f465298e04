/** Texts behind links. */
export { firstWords, outputText, plainText, saltedText } from './texts.js';
