"""The counters of errors of devices, as the driver's sysfs, neuron-monitor and their exporters call them."""

#: Errors of memory that was corrected, or was not; in the order of neuron-monitor's reports.
ECC = (
    "mem_ecc_corrected",
    "mem_ecc_uncorrected",
    "mem_ecc_repairable_uncorrected",
    "sram_ecc_corrected",
    "sram_ecc_uncorrected",
)
#: What else the driver counts (sysfs: `status/` of a device or core).
HARDWARE = ("hw_repairable_hbm_ue_error", "hw_hbm_ue_error", "hw_nc_ue_error", "hw_dma_abort_error")
