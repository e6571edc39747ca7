qrsh_starter: starting on elm
rank offset 8, 8 procs
[elm] 2025-10-02 02:01:11 | INFO | loop | step=400 loss=2.0000 dt=7.37s
[elm] 2025-10-02 02:03:11 | INFO | loop | step=402 loss=1.9980 dt=7.31s
[elm] 2025-10-02 02:05:11 | INFO | loop | step=404 loss=1.9960 dt=7.38s
[elm] 2025-10-02 02:07:11 | INFO | loop | step=406 loss=1.9940 dt=7.91s
[elm] 2025-10-02 02:09:11 | INFO | loop | step=408 loss=1.9920 dt=7.30s
[elm] 2025-10-02 02:11:11 | INFO | loop | step=410 loss=1.9900 dt=7.99s
[elm] 2025-10-02 02:13:11 | INFO | loop | step=412 loss=1.9880 dt=7.98s
[elm] 2025-10-02 02:15:11 | INFO | loop | step=414 loss=1.9860 dt=7.15s
[elm] 2025-10-02 02:17:11 | INFO | loop | step=416 loss=1.9840 dt=7.48s
[elm] 2025-10-02 02:19:11 | INFO | loop | step=418 loss=1.9820 dt=7.59s
[elm] 2025-10-02 02:21:11 | INFO | loop | step=420 loss=1.9800 dt=7.12s
[elm] 2025-10-02 02:23:11 | INFO | loop | step=422 loss=1.9780 dt=7.52s
[elm] 2025-10-02 02:25:11 | INFO | loop | step=424 loss=1.9760 dt=8.01s
[elm] 2025-10-02 02:27:11 | INFO | loop | step=426 loss=1.9740 dt=7.21s
[elm] 2025-10-02 02:29:11 | INFO | loop | step=428 loss=1.9720 dt=7.70s
[elm] 2025-10-02 02:31:11 | INFO | loop | step=430 loss=1.9700 dt=7.22s
[elm] 2025-10-02 02:33:11 | INFO | loop | step=432 loss=1.9680 dt=7.68s
[elm] 2025-10-02 02:35:11 | INFO | loop | step=434 loss=1.9660 dt=8.00s
[elm] 2025-10-02 02:37:11 | INFO | loop | step=436 loss=1.9640 dt=7.30s
[elm] 2025-10-02 02:39:11 | INFO | loop | step=438 loss=1.9620 dt=7.11s
[elm] 2025-10-02 02:41:11 | INFO | loop | step=440 loss=1.9600 dt=7.18s
[elm] 2025-10-02 02:43:11 | INFO | loop | step=442 loss=1.9580 dt=7.64s
[elm] 2025-10-02 02:45:11 | INFO | loop | step=444 loss=1.9560 dt=7.12s
[elm] 2025-10-02 02:47:11 | INFO | loop | step=446 loss=1.9540 dt=7.18s
[elm] 2025-10-02 02:49:11 | INFO | loop | step=448 loss=1.9520 dt=7.60s
[elm] 2025-10-02 02:51:11 | INFO | loop | step=450 loss=1.9500 dt=8.02s
[elm] 2025-10-02 02:53:11 | INFO | loop | step=452 loss=1.9480 dt=7.52s
[elm] 2025-10-02 02:55:11 | INFO | loop | step=454 loss=1.9460 dt=7.50s
[elm] 2025-10-02 02:57:11 | INFO | loop | step=456 loss=1.9440 dt=7.74s
[elm] 2025-10-02 02:59:11 | INFO | loop | step=458 loss=1.9420 dt=7.19s
[elm] 2025-10-02 03:02:10 | INFO | ckpt | saving step 460 to /mnt/nas2/runs/k7/step_460 (8 shards per host)
