import express from 'express';
import { expressTests } from './express-tests.ts';

expressTests('Express 5', express);
