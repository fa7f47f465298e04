/** What a server of pages for the person at this machine needs: which requests it answers, and the files of its page. */
export { hostsOf, requireHost, requireJson, requireOwnPage, SECURITY_HEADERS } from './guard.js';
export { fileReply, type PageFile, pageFile, sentFile } from './page-file.js';
export { HttpRefusal } from './refusal.js';
