import { Logger as NestLogger } from '@nestjs/common';
import type { Logger } from '@call-webhooks/core';
import { consoleLine } from '@call-webhooks/core/internal';

/** Writes lines to the logger of the app. */
export function nestLogger(): Logger {
  const logger = new NestLogger('CallWebhooks');
  return {
    debug: (fields, message) => {
      logger.debug(consoleLine(fields, message));
    },
    info: (fields, message) => {
      logger.log(consoleLine(fields, message));
    },
    warn: (fields, message) => {
      logger.warn(consoleLine(fields, message));
    },
    error: (fields, message) => {
      logger.error(consoleLine(fields, message));
    },
  };
}
