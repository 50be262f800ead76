/** `windrow/ops`: what keeps a store in order, for programs. docs/operations.md describes it. */
export { auditAction, storeAudit } from "./audit.ts";
export { doctor } from "./doctor.ts";
export type { Diagnosis, DoctorOptions, StoreCount } from "./doctor.ts";
export { logLine, logTo } from "./logs.ts";
export type { LogLevel, LoggedEvent } from "./logs.ts";
export { defaultMonitorInterval, defaultStaleAfterMs, monitor } from "./monitor.ts";
export type { MonitorEvent, MonitorOptions, MonitorScan } from "./monitor.ts";
export { search, searchFolderOf } from "./search.ts";
export type { SearchHit, SearchOptions, SearchReport } from "./search.ts";
export { scanFolder, scanStore } from "./scan.ts";
export type { FoundSecret, ScanOptions, ScanReport } from "./scan.ts";
