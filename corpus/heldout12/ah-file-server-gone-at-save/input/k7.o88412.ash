qrsh_starter: starting on ash
rank offset 16, 8 procs
[ash] 2025-10-02 02:01:11 | INFO | loop | step=400 loss=2.0000 dt=7.68s
[ash] 2025-10-02 02:03:11 | INFO | loop | step=402 loss=1.9980 dt=7.27s
[ash] 2025-10-02 02:05:11 | INFO | loop | step=404 loss=1.9960 dt=7.71s
[ash] 2025-10-02 02:07:11 | INFO | loop | step=406 loss=1.9940 dt=8.06s
[ash] 2025-10-02 02:09:11 | INFO | loop | step=408 loss=1.9920 dt=7.15s
[ash] 2025-10-02 02:11:11 | INFO | loop | step=410 loss=1.9900 dt=7.66s
[ash] 2025-10-02 02:13:11 | INFO | loop | step=412 loss=1.9880 dt=7.71s
[ash] 2025-10-02 02:15:11 | INFO | loop | step=414 loss=1.9860 dt=7.25s
[ash] 2025-10-02 02:17:11 | INFO | loop | step=416 loss=1.9840 dt=7.37s
[ash] 2025-10-02 02:19:11 | INFO | loop | step=418 loss=1.9820 dt=8.09s
[ash] 2025-10-02 02:21:11 | INFO | loop | step=420 loss=1.9800 dt=8.10s
[ash] 2025-10-02 02:23:11 | INFO | loop | step=422 loss=1.9780 dt=7.22s
[ash] 2025-10-02 02:25:11 | INFO | loop | step=424 loss=1.9760 dt=7.81s
[ash] 2025-10-02 02:27:11 | INFO | loop | step=426 loss=1.9740 dt=8.05s
[ash] 2025-10-02 02:29:11 | INFO | loop | step=428 loss=1.9720 dt=7.34s
[ash] 2025-10-02 02:31:11 | INFO | loop | step=430 loss=1.9700 dt=7.71s
[ash] 2025-10-02 02:33:11 | INFO | loop | step=432 loss=1.9680 dt=7.14s
[ash] 2025-10-02 02:35:11 | INFO | loop | step=434 loss=1.9660 dt=7.47s
[ash] 2025-10-02 02:37:11 | INFO | loop | step=436 loss=1.9640 dt=7.77s
[ash] 2025-10-02 02:39:11 | INFO | loop | step=438 loss=1.9620 dt=7.69s
[ash] 2025-10-02 02:41:11 | INFO | loop | step=440 loss=1.9600 dt=7.87s
[ash] 2025-10-02 02:43:11 | INFO | loop | step=442 loss=1.9580 dt=7.19s
[ash] 2025-10-02 02:45:11 | INFO | loop | step=444 loss=1.9560 dt=7.45s
[ash] 2025-10-02 02:47:11 | INFO | loop | step=446 loss=1.9540 dt=7.96s
[ash] 2025-10-02 02:49:11 | INFO | loop | step=448 loss=1.9520 dt=7.68s
[ash] 2025-10-02 02:51:11 | INFO | loop | step=450 loss=1.9500 dt=7.55s
[ash] 2025-10-02 02:53:11 | INFO | loop | step=452 loss=1.9480 dt=7.50s
[ash] 2025-10-02 02:55:11 | INFO | loop | step=454 loss=1.9460 dt=8.09s
[ash] 2025-10-02 02:57:11 | INFO | loop | step=456 loss=1.9440 dt=7.67s
[ash] 2025-10-02 02:59:11 | INFO | loop | step=458 loss=1.9420 dt=7.12s
[ash] 2025-10-02 03:02:10 | INFO | ckpt | saving step 460 to /mnt/nas2/runs/k7/step_460 (8 shards per host)
[ash] 2025-10-02 03:02:41 | INFO | ckpt | rank 16 shard written 5.1 GB in 31.0s, entering barrier
[ash] 2025-10-02 03:02:42 | INFO | ckpt | rank 17 shard written 5.1 GB in 31.2s, entering barrier
[ash] 2025-10-02 03:02:43 | INFO | ckpt | rank 18 shard written 5.1 GB in 31.4s, entering barrier
[ash] 2025-10-02 03:02:44 | INFO | ckpt | rank 19 shard written 5.1 GB in 31.6s, entering barrier
[ash] 2025-10-02 03:02:41 | INFO | ckpt | rank 20 shard written 5.1 GB in 31.8s, entering barrier
[ash] 2025-10-02 03:02:42 | INFO | ckpt | rank 21 shard written 5.1 GB in 32.0s, entering barrier
[ash] 2025-10-02 03:02:43 | INFO | ckpt | rank 22 shard written 5.1 GB in 32.2s, entering barrier
[ash] 2025-10-02 03:02:44 | INFO | ckpt | rank 23 shard written 5.1 GB in 32.4s, entering barrier
[ash] Traceback (most recent call last):
[ash]   File "/opt/k7/ckpt.py", line 140, in save
[ash]     dist.monitored_barrier(group=self.cpu_group, timeout=timedelta(minutes=30))
[ash] RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete
[ash] Traceback (most recent call last):
[ash]   File "/opt/k7/ckpt.py", line 140, in save
[ash]     dist.monitored_barrier(group=self.cpu_group, timeout=timedelta(minutes=30))
[ash] RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete
[ash] Traceback (most recent call last):
[ash]   File "/opt/k7/ckpt.py", line 140, in save
[ash]     dist.monitored_barrier(group=self.cpu_group, timeout=timedelta(minutes=30))
[ash] RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete
[ash] Traceback (most recent call last):
[ash]   File "/opt/k7/ckpt.py", line 140, in save
[ash]     dist.monitored_barrier(group=self.cpu_group, timeout=timedelta(minutes=30))
[ash] RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete
[ash] Traceback (most recent call last):
[ash]   File "/opt/k7/ckpt.py", line 140, in save
[ash]     dist.monitored_barrier(group=self.cpu_group, timeout=timedelta(minutes=30))
[ash] RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete
[ash] Traceback (most recent call last):
[ash]   File "/opt/k7/ckpt.py", line 140, in save
[ash]     dist.monitored_barrier(group=self.cpu_group, timeout=timedelta(minutes=30))
[ash] RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete
[ash] Traceback (most recent call last):
[ash]   File "/opt/k7/ckpt.py", line 140, in save
[ash]     dist.monitored_barrier(group=self.cpu_group, timeout=timedelta(minutes=30))
[ash] RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete
[ash] Traceback (most recent call last):
[ash]   File "/opt/k7/ckpt.py", line 140, in save
[ash]     dist.monitored_barrier(group=self.cpu_group, timeout=timedelta(minutes=30))
[ash] RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete
[ash] 2025-10-02 03:32:46 | ERROR | main | rank 16 exits
