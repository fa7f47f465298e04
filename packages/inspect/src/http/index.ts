/** The server of the page: its guards, its token, its answers. */
export { errorReport } from './error-report.js';
export { Refusal } from './refusal.js';
export { type ApiAnswer, type ApiRequest, JSON_TYPE, startHttp } from './server.js';
