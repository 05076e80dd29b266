import { expect, it } from '@jest/globals';
import * as core from '@call-webhooks/core';
import * as adapter from '../src/index.ts';
import type { DeadLetter, HandlerContext, Handlers, Outcome, Store } from '../src/index.ts';

it('exports everything of core, so that nobody has to install it as well', () => {
  expect(adapter).toMatchObject({ ...core });
  const types: [DeadLetter?, HandlerContext?, Handlers?, Outcome?, Store?] = [];
  expect(types).toEqual([]);
});
