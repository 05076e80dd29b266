// A placeholder until the page is built.
import type { PageFile } from './page-file.ts';

export const PAGE_FILES: ReadonlyMap<string, PageFile> = new Map([
  [
    'index.html',
    {
      type: 'text/html; charset=utf-8',
      text: '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Call webhooks</title></head><body></body></html>',
    },
  ],
]);
