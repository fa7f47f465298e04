/** States of the past, kept between questions. */
export { Past } from './past.js';
