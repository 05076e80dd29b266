import { fieldNameProblems } from '@call-webhooks/core/internal';
import * as z from 'zod/mini';
import { text } from '../errors.ts';

const name = () => z.optional(text());

/** Names of some of the seven body fields that the spec describes by meaning only; `undefined` for none. */
export const FIELD_NAMES = z
  .strictObject({
    placedBy: name(),
    createdAt: name(),
    calledNumber: name(),
    calledEmail: name(),
    calledName: name(),
    dialedAt: name(),
    endedAt: name(),
  })
  .check(
    z.check(({ value, issues }) => {
      for (const { property, expected } of fieldNameProblems(value))
        issues.push({
          ...{ code: 'custom', path: [property], input: value[property] },
          message: expected,
        });
    }),
  );
