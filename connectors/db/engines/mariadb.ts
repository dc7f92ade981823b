import type { DatabaseEngine } from '../database-engine.ts';
import { mysql } from './mysql.ts';

export const mariadb: DatabaseEngine = { ...mysql, title: 'MariaDB', schemes: ['mariadb'] };
