import { expect, it } from '@jest/globals';
import * as core from '@call-webhooks/core';
import * as node from '@call-webhooks/core/node';
import * as stores from '@call-webhooks/core/stores';
import * as storeTests from '@call-webhooks/store-tests';
import * as express from '@call-webhooks/express';
import * as fastify from '@call-webhooks/fastify';
import * as hono from '@call-webhooks/adapters/hono';
import * as koa from '@call-webhooks/adapters/koa';
import * as lambda from '@call-webhooks/adapters/lambda';
import * as sveltekit from '@call-webhooks/adapters/sveltekit';
import * as nest from '@call-webhooks/nest';
import * as next from '@call-webhooks/next';
import { documents, read } from './files.ts';

/** The programs of some pages, and what stands in them between backticks. */
const codeOf = (pages: readonly string[]): string =>
  pages.flatMap((page) => read(page).match(/^```.*?^```|`[^`\n]+`/gms) ?? []).join('\n');

const missingIn = (code: string, exported: object): string[] =>
  Object.keys(exported).filter((name) => !new RegExp(`\\b${name}\\b`).test(code));

it('every value of core is named in a page of the docs or in a README', () => {
  const pages = documents().filter((page) => /^docs\/[\w-]+\.md$|README\.md$/.test(page));
  expect(pages.length).toBeGreaterThan(30);
  expect(missingIn(codeOf(pages), core)).toEqual([]);
});

it('every value of core/stores is named in the pages for authors of stores and queues', () => {
  expect(missingIn(codeOf(['docs/write-a-store.md', 'docs/write-a-queue.md']), stores)).toEqual([]);
});

it('every suite for stores and queues is named in their README', () => {
  expect(missingIn(codeOf(['packages/store-tests/README.md']), storeTests)).toEqual([]);
});

it('the Express adapter exports what core exports, and its own', () => {
  const { keepRawBody } = node;
  expect({ ...express }).toEqual({ ...core, keepRawBody, callWebhooks: express.callWebhooks });
});

it.each(Object.entries({ fastify, hono, koa, lambda, nest, next, sveltekit }))(
  '%s exports everything of core, so that nobody has to install it as well',
  (name, adapter) => {
    const { ready, ...rest } = core;
    expect(adapter).toMatchObject(rest);
    // These frameworks call it in a form of their own.
    const hasOwn = name === 'koa' || name === 'lambda';
    expect(adapter.ready === ready).toBe(!hasOwn);
  },
);
