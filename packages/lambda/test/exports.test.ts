import { expect, it } from '@jest/globals';
import * as core from '@call-webhooks/core';
import type {
  ALBHandler,
  APIGatewayProxyHandler,
  APIGatewayProxyHandlerV2,
  LambdaFunctionURLHandler,
} from 'aws-lambda';
import * as adapter from '../src/index.ts';
import type { DeadLetter, HandlerContext, Handlers, Outcome, Store } from '../src/index.ts';

it('exports everything of core, so that nobody has to install it as well', () => {
  expect(adapter).toMatchObject({ ...core });
  const types: [DeadLetter?, HandlerContext?, Handlers?, Outcome?, Store?] = [];
  expect(types).toEqual([]);
});

it('has the types of @types/aws-lambda, without depending on them', () => {
  const handler = adapter.callWebhooks({ secret: adapter.generateSecret() });
  const all: [
    ALBHandler,
    APIGatewayProxyHandler,
    APIGatewayProxyHandlerV2,
    LambdaFunctionURLHandler,
  ] = [handler, handler, handler, handler];
  expect(all).toHaveLength(4);
});

it('an invalid secret throws when the function starts', () => {
  expect(() => adapter.callWebhooks({ secret: undefined })).toThrow('environment variable');
});
