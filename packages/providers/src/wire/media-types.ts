/** The media types that both makers' own protocols take as they are. */
export const IMAGES_AND_PDF: readonly string[] = Object.freeze([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'application/pdf',
]);
