import { expect, it } from '@jest/globals';
import * as core from '@call-webhooks/core';
import * as hono from '../src/hono.ts';
import * as koa from '../src/koa.ts';
import * as lambda from '../src/lambda.ts';
import * as sveltekit from '../src/sveltekit.ts';

it.each(Object.entries({ hono, koa, lambda, sveltekit }))(
  '%s exports everything of core, so that nobody has to install it as well',
  (_name, adapter) => {
    expect(adapter).toMatchObject({ ...core });
  },
);
